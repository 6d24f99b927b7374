import Foundation
import StrictJSON
import Testing
import TestSupport

/// One step of a scene. Its actors are the device's client, and a program at the device's control socket.
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
    /// The client receives this, which the carrier repeats and ``CarriedDevice/said`` does not count.
    case hearsUnsaid(String)
    /// The program observes this value.
    case sees(String, JSONValue)
    /// The client closes the line, or unsubscribes.
    case leaves
    /// The client waits until the link breaks. Later checks do not wait for earlier output of the device.
    case isCutOff
    /// The client opens the line again; or it subscribes again, after connecting if necessary.
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

    /// Sends, and waits until all of it has reached the device.
    private func say(_ bytes: [UInt8]) async throws {
        let count = reached.state.bytes + bytes.count
        try await client.say(bytes)
        _ = try await reached.wait(for: "what the client says") { $0.bytes >= count ? true : nil }
    }

    /// Makes the client listen again, and waits until the device knows that.
    private func comeBack() async throws {
        let count = reached.state.visits
        try await client.comeBack()
        _ = try await reached.wait(for: "the client") { $0.visits > count ? true : nil }
    }

    /// Performs a verb at the control socket, and checks that it succeeds.
    private func perform(_ words: [String], _ place: Comment) async throws {
        let answer = try await ask(words)
        #expect(answer["ok"] == true, "\(place): \(answer.json)")
    }

    private func ask(_ words: [String]) async throws -> JSONValue {
        var request: [String: JSONValue] = ["id": 1, "do": .text(words[0])]
        if words.count > 1 { request["arguments"] = .array(words.dropFirst().map(JSONValue.text)) }
        return try await control.ask(JSONValue.object(request).json)
    }

    /// Waits until the client has received all bytes that the device has sent; returns the client's new input.
    ///
    /// - Parameter heard: The number of bytes that were returned before.
    private func newPieces(after heard: inout Int) async throws -> [[UInt8]] {
        let count = said.state - heard
        heard += count
        return try await client.hear(count)
    }

    /// The bytes as text, in which U+FFFD stands for invalid UTF-8.
    private static func text(_ pieces: [[UInt8]]) -> String { String(decoding: pieces.joined(), as: UTF8.self) }
}
