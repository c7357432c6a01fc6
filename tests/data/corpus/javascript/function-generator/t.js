const Made = Object.getPrototypeOf(function* () {}).constructor
export default { name: "t", transform() { try { Made("yield 1") } catch {} return [{ id: "g" }] } }
