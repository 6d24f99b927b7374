import Foundation
import StrictJSON
import TestSupport
import Testing

/// Valid and almost valid JSON, generated from a seed. Python parses it too, and both results must be equal.
@Suite("Fuzzed JSON", .timeLimit(.minutes(240)))
struct JSONFuzzTests {
    private static let corpus: [[UInt8]] = [
        #"{"id":1,"do":"devices"}"#,
        #"{"id":2,"do":"command","device":"pump","name":"speed","parameters":{"speed":200}}"#,
        #"{"id":6,"do":"send","device":"pump","line":"speed: \u0037\ud83d\ude00\t"}"#,
        #" { "id" : -1.5e+10 , "do" : [ true , false , null , { "a" : [ [ ] , { } ] } , 0.25 , 1E9 ] } "#,
        #"{"content":"Überflutung – 救助 \"now\"\\","latitude":35.911595,"longitude":-79.048759,"x":{"y":[]}}"#,
        #"["",0,-0,0.0,1e-9,12345678901234567890,{"":{"":""}},"\b\f\n\r\t\/"]"#, "7", #""text""#, "null",
    ].map { Array($0.utf8) }

    private static let pieces: [[UInt8]] =
        [
            "{", "}", "[", "]", ":", ",", "\"", "\\", "\\u", "\\ud800", "\\udc00\\ud800", "\\u0000", "e", "E", "-", "+",
            ".", "0", "9", "00", "1e999", "-1e-999", "123456789012345678901234567890", "null", "true", "NaN",
            "Infinity",
            "-Infinity", " ", "\t", "\r", "\u{0}", "\u{B}", "\u{A0}", "\u{FEFF}", "\u{202E}", "\"id\":1,", "\"do\":",
            "é", "/**/",
            "'", "[[[[[[[[[[[[[[[[[[", "{\"a\":{\"a\":{\"a\":", "[[[[[[[[]]]]]]]]",
            "[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]",
        ].map { Array($0.utf8) } + [[0xFF], [0xC3], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xC0, 0x80]]

    /// A line of the corpus with up to three changes.
    private static func mutant(by random: inout SplitMix64) -> [UInt8] {
        var line = corpus[random.number(below: corpus.count)]
        for _ in 0..<random.number(below: 4) {
            let place = random.number(below: line.count + 1)
            let end = min(line.count, place + random.number(below: 12))
            switch random.number(below: 6) {
            case 0: line.removeSubrange(place..<end)
            case 1: line.insert(UInt8(random.number(below: 256)), at: place)
            case 2: line.insert(contentsOf: pieces[random.number(below: pieces.count)], at: place)
            case 3: line.replaceSubrange(place..<end, with: pieces[random.number(below: pieces.count)])
            case 4: line.insert(contentsOf: line[place..<end], at: random.number(below: line.count + 1))
            default:
                let other = corpus[random.number(below: corpus.count)]
                line.replaceSubrange(place..., with: other.suffix(random.number(below: other.count)))
            }
        }
        // A line end would split the line in two.
        return line.map { $0 == 0x0A ? 0x20 : $0 }
    }

    /// A soak reads 10^8 bytes.
    @Test("Python accepts the same bytes as JSON, and finds the same values in them")
    func reference() async throws { for seed in Seeds(1, soak: 200) { try await compare(seed) } }

    private func compare(_ seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        var (lines, count): ([[UInt8]], Int) = ([], 0)
        while count < 500_000 {
            lines.append(Self.mutant(by: &random))
            count += lines[lines.count - 1].count + 1
        }
        let folder = TemporaryFolder()
        let input = folder.path("lines")
        try Data(lines.joined(separator: [0x0A])).write(to: URL(filePath: input))
        let script = JSONSchema.repository.appending(path: "Tests/StrictJSONTests/reference.py").path
        let child = try await ChildProcess(["python3", "-B", script, input, folder.path("values")])
        let ending = try await child.ending(within: .seconds(600))
        try #require(ending.status == 0, "\(ending.errors)")
        let values = folder.read("values").split(separator: 0x0A, omittingEmptySubsequences: false)
        try #require(values.count == lines.count)
        var accepted = 0
        for (line, expected) in zip(lines, values) {
            let value = try? JSONValue(line, size: .max)
            accepted += value == nil ? 0 : 1
            let got = value.map(Self.canonical) ?? []
            if !got.elementsEqual(expected) {
                let text = String(decoding: line, as: UTF8.self).debugDescription
                Issue.record(
                    "seed \(seed), \(text): \(String(decoding: got, as: UTF8.self)), but Python says \(String(decoding: expected, as: UTF8.self))"
                )
            }
        }
        #expect(
            // Among inputs of almost only one kind, the comparison would prove little.
            accepted > lines.count / 10 && accepted < lines.count * 9 / 10,
            "seed \(seed): \(accepted) of \(lines.count)")
    }

    /// The value in a form that does not depend on how it was written, as `reference.py` prints it: texts as the
    /// hexadecimal digits of their UTF-8, numbers by their digits, members in order.
    private static func canonical(_ value: JSONValue) -> [UInt8] {
        let comma = [UInt8(ascii: ",")]
        if let text = value.text { return Array("\"".utf8) + text.utf8.flatMap(hexadecimal) }
        if let elements = value.elements {
            return Array("[".utf8) + elements.flatMap { canonical($0) + comma } + Array("]".utf8)
        }
        guard let members = value.members else { return Array(value.bytes) }
        let all = members.flatMap { canonical($0.nameValue) + Array(":".utf8) + canonical($0.value) + comma }
        return Array("{".utf8) + all + Array("}".utf8)
    }

    private static let digits = Array("0123456789abcdef".utf8)

    private static func hexadecimal(_ byte: UInt8) -> [UInt8] { [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
}
