export default { name: "t", transform: ({ sources }) => sources.rows.content.split("\n").filter((line) => line === "never") }
