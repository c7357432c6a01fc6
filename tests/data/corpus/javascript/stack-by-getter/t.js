export default { name: "t", transform() { let depth = 0; const o = { get x() { depth++; return this.x } }; try { o.x } catch {} return [{ id: `${depth}` }] } }
