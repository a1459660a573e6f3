//! Implements what the product needs of a store beyond the ports.
