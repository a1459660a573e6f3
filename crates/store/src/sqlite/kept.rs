//! Implements what the product needs of a store beyond the ports, by the methods of [`Base`](super::Base).
