export default { name: "t", transform: () => [{ id: "p", [Symbol("note")]: 1 }] }
