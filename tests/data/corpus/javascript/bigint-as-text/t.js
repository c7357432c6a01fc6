const factorial = (n) => (n < 2n ? 1n : n * factorial(n - 1n))
export default { name: "t", transform: () => [{ id: "b", f: factorial(25n).toString(), hex: (2n ** 100n).toString(16), wrapped: Number(BigInt.asIntN(8, 200n)), rest: `${-7n / 2n} ${-7n % 2n}` }] }
