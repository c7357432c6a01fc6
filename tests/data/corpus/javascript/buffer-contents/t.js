export default { name: "t", transform: () => [{ id: Buffer.allocUnsafe(8).toString("hex"), slow: [...Buffer.allocUnsafeSlow(2)], own: Buffer.from("ab").buffer.byteLength }] }
