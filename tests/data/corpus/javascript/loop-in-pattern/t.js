export default { name: "t", transform: () => [{ id: String(/^(?:\w+\s?)+$/.test("word ".repeat(30) + "!")) }] }
