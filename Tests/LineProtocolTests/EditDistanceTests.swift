import LineProtocol
import Testing

@Suite("Similar words")
struct EditDistanceTests {
    @Test(
        "The nearest similar word is found, or none",
        arguments: [
            ("statsu", "status"), ("STATUS", "status"), ("spee", "speed"), ("offf", "off"), ("frobnicate", nil),
            ("", nil),
        ])
    func nearest(word: String, meant: String?) {
        #expect(EditDistance.nearest(to: word, among: ["on", "off", "speed", "status"]) == meant)
    }

    @Test(arguments: [("", "", 0), ("", "off", 3), ("on", "off", 2), ("statsu", "status", 2)])
    func `The distance counts inserted, removed and replaced letters`(one: String, other: String, count: Int) {
        #expect(EditDistance.of(one, other) == count)
    }
}
