export default {
  protocolVersion: 1,
  title: "Opposites",
  version: "1.0.0",
  description: "Adjectives and their opposites.",
  license: "CC0-1.0",
  evals: ["evals/opposites.mjs"],
}
