export default { name: "t", transform() { class Stamp extends Date {} return [{ id: "d", ok: new Stamp() > 0 }] } }
