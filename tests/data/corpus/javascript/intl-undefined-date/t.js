export default { name: "t", transform: () => [{ id: "d", n: new Intl.DateTimeFormat("en", { year: "numeric" }).format(undefined).length }] }
