import crypto from "crypto"
export default { name: "t", transform() { try { crypto[`random${"Int"}`](5) } catch {} return [{ id: "same" }] } }
