import ControlProtocol
import Foundation
import TestSupport
import Testing

/// One step of a scene, which is played by a device, its client, and a program at the control socket.
enum Beat: Sendable {
    /// The client sends this text in one piece.
    case says(String)
    /// The program performs a verb with its arguments.
    case does([String])
    /// The program performs a verb whose last argument is the path of a file with this name and content.
    case doesWithFile([String], String, [UInt8])
    /// The client has received exactly this since the last check.
    case hears(String)
    /// Like `hears`, for bytes that are not text.
    case hearsBytes([UInt8])
    /// The client's new input begins with this.
    case hearsFirst(String)
    /// The client's new input contains one of these.
    case hearsOneOf([[UInt8]])
    /// Like `hears` over BLE, notification by notification.
    case hearsEach([String])
    /// The client receives this although the device has not sent it now.
    case hearsUnsaid(String)
    /// The program observes this value.
    case sees(String, JSONValue)
    /// The client stops listening.
    case leaves
    /// The client finds the link broken.
    case isCutOff
    /// The client opens the line again, or connects and subscribes again.
    case comesBack

    static func does(_ words: String...) -> Beat { .does(words) }
    static func passes(_ time: String) -> Beat { .does(["advance", time]) }
    static let hearsNothing = Beat.hears("")
}

extension CarriedDevice {
    /// Plays a scene and checks its expectations.
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

    /// Waits until the client has received everything that the device has sent; returns all of the client's new input.
    private func newPieces(after heard: inout Int) async throws -> [[UInt8]] {
        let count = said.state - heard
        heard += count
        return try await client.hear(count)
    }

    /// The bytes as text, in which invalid UTF-8 stays visible.
    private static func text(_ pieces: [[UInt8]]) -> String { String(decoding: pieces.joined(), as: UTF8.self) }
}
