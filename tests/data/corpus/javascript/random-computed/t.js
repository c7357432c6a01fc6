export default { name: "t", transform() { const pick = Math[["ran", "dom"].join("")]; return [{ id: "r", low: pick() < 2 }] } }
