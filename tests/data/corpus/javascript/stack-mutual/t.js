export default { name: "t", transform() { let depth = 0; const even = () => { depth++; odd() }; const odd = () => { depth += 1; even() }; try { even() } catch {} return [{ id: `${depth}` }] } }
