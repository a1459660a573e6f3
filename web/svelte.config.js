// How is Svelte compiled?
export default { compilerOptions: { runes: true } };
