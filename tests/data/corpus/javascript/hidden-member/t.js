export default { name: "t", transform: () => [Object.defineProperty({ id: "x" }, "secret", { value: 1 })] }
