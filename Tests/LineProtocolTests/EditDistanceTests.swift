import LineProtocol
import Testing

@Suite("Words that are like others")
struct EditDistanceTests {
    @Test(
        "The word that was probably meant is found, or none",
        arguments: [
            ("statsu", "status"), ("STATUS", "status"), ("spee", "speed"), ("offf", "off"), ("frobnicate", nil),
            ("", nil),
        ])
    func nearest(word: String, meant: String?) {
        #expect(EditDistance.nearest(to: word, among: ["on", "off", "speed", "status"]) == meant)
    }

    @Test(arguments: [("", "", 0), ("", "off", 3), ("on", "off", 2), ("statsu", "status", 2)])
    func `The distance is how many letters are put in, taken out or replaced`(one: String, other: String, count: Int) {
        #expect(EditDistance.of(one, other) == count)
    }
}
