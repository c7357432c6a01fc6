export default {
  id: "opposites",
  title: "Opposites of adjectives",
  systemPrompt: "Reply with one word.",
  limits: { maxOutputTokens: 16 },
  cases: {
    transformer: "../transformers/opposites.py",
    sources: { pairs: "../data/pairs.tsv" },
  },
  evaluate: { kind: "non_empty" },
}
