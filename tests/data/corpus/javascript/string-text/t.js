export default { name: "t", transform: () => [{ id: "s", v: "\0\b\t\n\v\f\r\x1b\"\\/\x7f\x80\u2028\u2029\ufeff\ufffe\uffff\u{10ffff}", "ключ \"": "e\u0301é", empty: "" }] }
