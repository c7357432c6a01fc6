export default { name: "t", transform() { let size = 3 << 20; try { for (;; size *= 2) new ArrayBuffer(1, { maxByteLength: size }) } catch {} return [{ id: `${size}` }] } }
