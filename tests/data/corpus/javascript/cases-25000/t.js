export default { name: "t", transform: () => Array.from({ length: 25_000 }, (_, id) => ({ id })) }
