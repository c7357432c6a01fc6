Object.prototype.toJSON = function () { return { id: "forged" } }
export default { name: "t", transform: () => [{ id: "real" }] }
