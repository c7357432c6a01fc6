export default { name: "t", transform: () => class List extends Array {}.of({ id: "x" }) }
