import ControlProtocol
import Foundation
import TestSupport
import Testing

/// What happens next between a device, its client, and a program at the control socket: a scene is a list of them.
enum Beat: Sendable {
    /// The client sends this in one piece.
    case says(String)
    /// The program has this done: a verb and its arguments.
    case does([String])
    /// The program has this done, with the path of a file of that name that holds these bytes as the last argument.
    case doesWithFile([String], String, [UInt8])
    /// All that the client has heard since the last time.
    case hears(String)
    /// The same as bytes, for what is no text.
    case hearsBytes([UInt8])
    /// The beginning of it.
    case hearsFirst(String)
    /// One of these somewhere in it.
    case hearsOneOf([[UInt8]])
    /// The same over BLE, notification by notification.
    case hearsEach([String])
    /// The client hears this although the device has not said it now.
    case hearsUnsaid(String)
    /// The program sees this of the device.
    case sees(String, JSONValue)
    /// The client stops to listen.
    case leaves
    /// The client finds the link broken.
    case isCutOff
    /// The client opens the line, or connects and subscribes, again.
    case comesBack

    static func does(_ words: String...) -> Beat { .does(words) }
    static func passes(_ time: String) -> Beat { .does(["advance", time]) }
    static let hearsNothing = Beat.hears("")
}

extension CarriedDevice {
    /// Plays a scene, and checks what is heard and seen in it.
    func play(_ scene: [Beat]) async throws {
        var heard = 0
        for (index, beat) in scene.enumerated() {
            let place: Comment = "beat \(index + 1), \(beat)"
            switch beat {
            case .says(let text): try await say(Array(text.utf8))
            case .does(let words): try await perform(words, place)
            case .doesWithFile(let words, let name, let bytes):
                try Data(bytes).write(to: URL(filePath: folder.path(name)))
                try await perform(words + [folder.path(name)], place)
            case .hears(let text):
                let pieces = try await newPieces(after: &heard)
                #expect(Self.text(pieces) == text, place)
            case .hearsBytes(let expected):
                let bytes = try await newPieces(after: &heard).flatMap { $0 }
                #expect(bytes == expected, place)
            case .hearsFirst(let text):
                let pieces = try await newPieces(after: &heard)
                #expect(Self.text(pieces).hasPrefix(text), place)
            case .hearsOneOf(let parts):
                let bytes = try await newPieces(after: &heard).flatMap { $0 }
                #expect(parts.contains { bytes.contains($0) }, place)
            case .hearsEach(let texts):
                #expect(try await newPieces(after: &heard).map { Self.text([$0]) } == texts, place)
            case .hearsUnsaid(let text): #expect(Self.text(try await client.hear(text.utf8.count)) == text, place)
            case .sees(let key, let value): #expect(try await ask(["state"])["state"]?[key] == value, place)
            case .leaves: try await client.leave()
            case .isCutOff:
                try await client.isCutOff()
                heard = said.state
            case .comesBack: try await comeBack()
            }
        }
    }

    private func say(_ bytes: [UInt8]) async throws {
        let count = reached.state.bytes + bytes.count
        try await client.say(bytes)
        _ = try await reached.wait(for: "what the client says") { $0.bytes >= count ? true : nil }
    }

    private func comeBack() async throws {
        let count = reached.state.visits
        try await client.comeBack()
        _ = try await reached.wait(for: "the client") { $0.visits > count ? true : nil }
    }

    private func perform(_ words: [String], _ place: Comment) async throws {
        let answer = try await ask(words)
        #expect(answer["ok"] == true, "\(place): \(answer.json)")
    }

    private func ask(_ words: [String]) async throws -> JSONValue {
        var request: [String: JSONValue] = ["id": 1, "do": .text(words[0])]
        if words.count > 1 { request["arguments"] = .array(words.dropFirst().map(JSONValue.text)) }
        return try await control.ask(JSONValue.object(request).json)
    }

    /// What the client hears of what the device has said; and what else it has heard.
    private func newPieces(after heard: inout Int) async throws -> [[UInt8]] {
        let count = said.state - heard
        heard += count
        return try await client.hear(count)
    }

    /// Bytes as a text, in which what is no UTF-8 is seen.
    private static func text(_ pieces: [[UInt8]]) -> String { String(decoding: pieces.joined(), as: UTF8.self) }
}
