export default { name: "t", transform() { let size = 1 << 20; try { for (;; size *= 2) new Uint8Array(size) } catch {} return [{ id: `${size}` }] } }
