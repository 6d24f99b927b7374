import DescriptorIO
import DeviceTestKit
import Foundation
import LineProtocol
import StrictJSON
import Testing
import TestSupport

@testable import Sharing

/// Lines that resemble requests of the control interface, generated from a seed.
@Suite("Fuzzed control requests", .timeLimit(.minutes(240)))
struct ControlFuzzTests {
    private static let corpus: [[UInt8]] = [
        #"{"id":1,"do":"devices"}"#,
        #"{"id":2,"do":"command","device":"pump","name":"speed","parameters":{"speed":200}}"#,
        #"{"id":"three","do":"command","device":"pump","name":"on","parameters":{}}"#,
        #"{"id":4,"do":"command","device":"pump","name":"off"}"#,
        #"{"id":5,"do":"send","device":"pump","line":"STATUS"}"#,
        #"{"id":6,"do":"send","device":"pump","line":"speed: \u0037\ud83d\ude00\t"}"#,
        #"{"id":7,"do":"state","device":"pump"}"#,
        #"{"id":8,"do":"subscribe","devices":["pump"],"events":["said","state","link","command"]}"#,
        #"{"id":9,"do":"unsubscribe","devices":"all"}"#,
        #"{"id":10,"do":"attach","device":"no such device"}"#,
        #"{"id":11,"do":"attach","device_id":"tty-no-such-device"}"#,
        #"{"id":12,"do":"transfer","device":"pump","content":"log","by":"page"}"#,
        #"{"id":13,"do":"cancel","transfer":12}"#,
        #" { "id" : -1.5e+10 , "do" : [ true , false , null , { "a" : [ [ ] , { } ] } , 0.25 , 1E9 ] } "#,
    ].map { Array($0.utf8) }

    private static let pieces: [[UInt8]] = [
        "{", "}", "[", "]", ":", ",", "\"", "\\", "\\u", "\\ud800", "\\u0000", "e", "E", "-", "+", ".", "0", "9", "00",
        "1e999", "123456789012345678901234567890", "null", "true", " ", "\t", "\r", "\n", "\u{0}", "\u{202E}",
        "\"id\":1,", "\"do\":", "é", "[[[[[[[[[[[[[[[[[[", "{\"a\":{\"a\":{\"a\":", "\"speed\":256", "OFF", "ON",
    ].map { Array($0.utf8) }

    /// A corpus line with up to three changes.
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
        return line
    }

    @Test("Each fuzzed line gets one response, and only requested lines reach the device")
    func connection() async throws { for seed in Seeds(2, soak: 500) { try await attack(seed) } }

    private func attack(_ seed: UInt64) async throws {
        try await ControlRig.run { rig in
            let client = try await rig.client()
            var random = SplitMix64(seed: seed)
            // The bytes of requests that this seed still has to send.
            var left = 50_000
            while left > 0 {
                let lines = (0..<12).map { _ in Self.mutant(by: &random) }
                var bytes: [UInt8] = lines.flatMap { $0 + [0x0A] }
                left -= bytes.count
                let count = bytes.count(where: { $0 == 0x0A })
                let allowed = Set(bytes.split(separator: 0x0A).compactMap { Self.lineAskedFor(by: Data($0)) })
                while !bytes.isEmpty {
                    let piece = bytes.prefix(1 + random.number(below: 200))
                    try await client.channel.write(Array(piece))
                    bytes.removeFirst(piece.count)
                }
                // A long line is sent to the device in pieces with pauses between them, so the clock must advance.
                let time = Task { [clock = rig.clock] in
                    while allowed.contains(where: { $0.utf8.count > 40 }), !Task.isCancelled {
                        await settle()
                        clock.advance(by: .milliseconds(50))
                    }
                }
                defer { time.cancel() }
                var responses = 0
                while responses < count { responses += try await client.message()["event"] == nil ? 1 : 0 }
                let sent = Set(rig.sentLines)
                rig.reports.update { $0 = [] }
                #expect(sent.subtracting(allowed) == [], "seed \(seed)")
            }
            #expect(try await rig.client().ask("devices")["ok"] == true)
        }
    }

    /// The line that a request sends to the device, according to another JSON parser; nil if it sends none.
    private static func lineAskedFor(by request: Data) -> String? {
        guard let members = try? JSONSerialization.jsonObject(with: request) as? [String: Any],
            members["device"] as? String == "pump"
        else { return nil }
        switch (members["do"] as? String, members["name"] as? String) {
        case ("send", _): return members["line"] as? String
        case ("command", "speed"?):
            guard let speed = (members["parameters"] as? [String: Any])?["speed"] as? Int else { return nil }
            return (0...255).contains(speed) ? "SPEED:\(speed)" : nil
        case ("command", let name?): return ["on", "off", "status", "temp"].contains(name) ? name.uppercased() : nil
        default: return nil
        }
    }
}
