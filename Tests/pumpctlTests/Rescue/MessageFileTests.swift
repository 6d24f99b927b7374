import Foundation
import LineProtocol
import TestSupport
import Testing

@testable import pumpctl

@Suite("The file of messages", .timeLimit(.minutes(5)))
struct MessageFileTests {
    private let folder = TemporaryFolder()
    private var path: String { folder.path("data/pumpctl/messages.jsonl") }

    private static func message(_ number: Int, content: String = "x") throws -> RescueMessage {
        let digits = String(number)
        return RescueMessage(
            id: try #require(
                RescueID("00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count) + digits)),
            content: content, position: try #require(RescuePosition(latitude: 1, longitude: 2)), time: .beginning,
            category: .other)
    }

    @Test("A message is stored once, also by another program, and survives a restart")
    func restart() async throws {
        let messages = try (0..<3).map { try Self.message($0, content: "line\nand \u{1B}[2J") }
        let one = try MessageFile(path: path)
        #expect(try await one.insertNew([messages[0], messages[0], messages[1]]) == Array(messages[..<2]))
        let other = try MessageFile(path: path)
        #expect(try await other.insertNew(messages) == [messages[2]])
        #expect(try await one.insertNew(messages) == [])
        try await other.markSynced([messages[1].id, .random()])
        #expect(try await one.messages(.pendingSync) == [messages[0], messages[2]])
        let reopened = try MessageFile(path: path)
        #expect(try await reopened.messages(nil).map(\.status) == [.pendingSync, .synced, .pendingSync])
        #expect(try await reopened.messages(.synced).map(\.id) == [messages[1].id])
    }

    @Test("Fields that nobody knows are kept, and claim nothing")
    func otherFields() async throws {
        let json =
            String(decoding: try Self.message(1).json.dropLast(), as: UTF8.self) + ",\"x\":{\"status\":\"synced\"}}"
        let message = try RescueMessage(json: Array(json.utf8))
        _ = try await MessageFile(path: path).insertNew([message])
        #expect(try await MessageFile(path: path).messages(.pendingSync) == [message])
    }

    @Test("A message that is handed on already is stored so")
    func synced() async throws {
        var message = try Self.message(1)
        message.status = .synced
        _ = try await MessageFile(path: path).insertNew([message])
        #expect(try await MessageFile(path: path).messages(.synced) == [message])
    }

    @Test("Wherever a power cut tears the file, what was stored before is there and more can be stored")
    func torn() async throws {
        let messages = try (0..<3).map { try Self.message($0, content: "}") }
        _ = try await MessageFile(path: path).insertNew(Array(messages[..<2]))
        let whole = try Data(contentsOf: URL(filePath: path))
        let firstEnd = try #require(whole.firstIndex(of: 0x0A)) + 1
        for length in firstEnd...whole.count {
            try whole.prefix(length).write(to: URL(filePath: path))
            let file = try MessageFile(path: path)
            let hasSecond = length == whole.count
            #expect(try await file.messages(nil) == Array(messages[..<(hasSecond ? 2 : 1)]), "\(length)")
            #expect(try await file.insertNew(messages) == Array(messages[(hasSecond ? 2 : 1)...]), "\(length)")
            #expect(try await MessageFile(path: path).messages(nil) == messages, "\(length)")
        }
    }

    @Test("100,000 messages are stored and read again, once each")
    func many() async throws {
        let messages = try (0..<100_000).map { try Self.message($0) }
        let file = try MessageFile(path: path)
        for start in stride(from: 0, to: messages.count, by: 10_000) {
            let batch = Array(messages[start..<start + 10_000])
            #expect(try await file.insertNew(batch).count == batch.count)
        }
        let reopened = try MessageFile(path: path)
        #expect(try await reopened.insertNew(messages) == [])
        #expect(try await reopened.messages(.pendingSync) == messages)
    }

    @Test("A place where nothing can be kept is told of")
    func noPlace() async throws {
        let nowhere = #expect(throws: RescueStoreError.self) { try MessageFile(path: nil) }
        #expect(nowhere?.code == .noPlace)
        let file = folder.write("", to: "file")
        let inFile = #expect(throws: RescueStoreError.self) { try MessageFile(path: file + "/messages.jsonl") }
        #expect(inFile?.code == .system)
    }
}
