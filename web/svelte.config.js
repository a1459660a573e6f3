// Sets how Svelte compiles.
export default { compilerOptions: { runes: true } };
