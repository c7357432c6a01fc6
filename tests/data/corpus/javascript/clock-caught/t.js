export default { name: "t", transform() { let when = "never"; try { when = Date["n" + "ow"]() } catch {} return [{ id: when }] } }
