let state = 2463534242
const next = () => { state ^= state << 13; state ^= state >>> 17; state ^= state << 5; return (state >>> 0) / 2 ** 32 }
export default { name: "t", transform() { const cards = [..."abcdefg"]; for (let i = cards.length - 1; i > 0; i--) { const j = Math.floor(next() * (i + 1)); [cards[i], cards[j]] = [cards[j], cards[i]] } return cards.map((id) => ({ id, weight: next() })) } }
