export default { name: "t", transform() { const { performance: clock } = globalThis; return [{ id: "p", n: clock.now() > 0 }] } }
