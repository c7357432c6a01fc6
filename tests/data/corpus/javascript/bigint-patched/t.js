BigInt.prototype.toJSON = function () { return String(this) }
export default { name: "t", transform: () => [{ id: "b", n: 12n }] }
