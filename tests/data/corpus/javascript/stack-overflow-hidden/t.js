export default { name: "t", transform() { const f = () => f() + 1; let kind = "none"; try { f() } catch (error) { kind = error.constructor.name } return [{ id: kind }] } }
