export default {
  protocolVersion: 1,
  title: "Everyday choices",
  version: "1.0.0",
  description: "Common sense about the house, with three or four options each.",
  license: "CC0-1.0",
  evals: ["evals/household.ts"],
}
