extension Mutant {
    /// For each check, a peer with a flaw that only this check finds. The peer's image has 1000 bytes.
    static let peers: [Mutant] = [
        peer("peer.image.begin", "tells no size of its image", says: ["IMG_BEGIN": ["IMG_BEGIN image.png"]]),
        Mutant(
            kills: "peer.image.chunks", flaw: "sends chunks that are too long",
            says: [Saying(line: firstChunk, becomes: ["*"], end: "")]),
        peer(
            // The line has 180 characters, like any full chunk.
            "peer.image.base64", "sends what is no base64",
            says: [firstChunk: [firstChunk + "AAAAN" + String(repeating: "*", count: 164)]]),
        peer("peer.image.size", "announces another size", says: ["IMG_BEGIN": ["IMG_BEGIN image.png 999"]]),
        peer("peer.image.limit", "announces too much", says: ["IMG_BEGIN": ["IMG_BEGIN image.png 5250001"]]),
        peer("peer.image.png", "sends no PNG", says: [firstChunk: [String(repeating: "A", count: 180)]]),
        peer("peer.image.end", "says no end of its image", says: ["IMG_END": []]),
        Mutant(
            kills: "peer.image.framing", flaw: "ends one line in another way",
            says: [Saying(line: "IMG_END", becomes: ["*"], end: "\n")]),
        Mutant(
            kills: "peer.image.queue", flaw: "loses a chunk of later images",
            says: [Saying(line: firstChunk, becomes: [], spared: 1)]),
        peer("peer.image.error", "has another word for an error", says: ["IMG_ERROR not_png": ["IMG_ERROR no_png"]]),
        peer("peer.greeting", "greets without the time", says: ["HELLO from": ["HELLO from QDevice1"]]),
        peer("peer.hello", "takes Hello for GET", hears: ["Hello": "GET"]),
        peer(
            "peer.hello.from", "takes a greeting for GET", hears: ["HELLO from Central @ 2026-01-01T00:00:00Z": "GET"]),
        peer(
            "peer.hello.from", "acknowledges a greeting of the app",
            hears: ["HELLO from Central @ 2026-01-01T00:00:00Z": "Hello"]),
        peer("peer.get.image", "does not know GET_IMAGE", hears: ["GET_IMAGE": "X"]),
        peer("peer.get.case", "knows GET in capitals only", hears: ["gEt": "X"]),
        peer("peer.get.trimmed", "trims no spaces", hears: ["  GET ": "X"]),
        peer(
            "peer.text.unanswered", "finds GET within a text",
            hears: ["pumpctl verify: a test message, to GET no answer. Please ignore.": "GET"]),
        peer(
            "peer.text.message", "drops a message", hears: ["pumpctl verify: a test message. Please ignore.": ""]),
        peer("peer.text.words", "takes a beginning for the command", hears: ["OFF!": "OFF"]),
        peer("peer.text.long", "cuts a long message in two", hears: [long: "pumpctl verify\n a long test message"]),
        peer("peer.text.bytes", "drops what must be a string", hears: ["\u{FFFD}\u{FFFD}\u{FFFD}A": ""]),
        peer("peer.toggle.unanswered", "acknowledges ON", hears: ["ON": "ON\nHello"]),
        peer("peer.toggle.on", "is not switched on", hears: ["ON": "X"]),
        peer("peer.toggle.off", "is not switched off", hears: ["OFF": "X"]),
        peer("peer.toggle.case", "knows OFF in capitals only", hears: ["oFf": "X"]),
    ]

    /// The beginning of any PNG's base64.
    private static let firstChunk = "iVBORw0KGgo"
    private static let long = "pumpctl verify: a long test message " + String(repeating: ".", count: 470)

    /// A peer whose flaw the check `check` finds.
    ///
    /// - Parameters:
    ///   - hears: The lines that the peer receives in place of others; an empty text for none.
    ///   - says: The lines that the peer sends in place of others, by the beginnings of the others.
    private static func peer(
        _ check: String, _ flaw: String, hears: [String: String] = [:], says: [String: [String]] = [:]
    ) -> Mutant {
        Mutant(
            kills: check, flaw: flaw,
            hears: Dictionary(uniqueKeysWithValues: hears.map { ("\($0)\n", $1.isEmpty ? "" : "\($1)\n") }),
            says: says.map { Saying(line: $0, becomes: $1) })
    }
}
