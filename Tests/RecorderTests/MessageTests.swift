import RecordFormat
import Recorder
import TestSupport
import Testing

@Suite("Messages", .timeLimit(.minutes(5)))
struct MessageTests {
    private let bench = RecordBench()

    /// The stored messages that pass a filter, in order.
    private func kept(_ filter: MessageFilter = MessageFilter()) throws -> [StoredMessage] {
        var messages: [StoredMessage] = []
        try RecordReader(bench.path).readMessages(filter) { messages.append($0) }
        return messages
    }

    @Test("A message is stored byte for byte as pending")
    func kept() async throws {
        let recorder = bench.recorder()
        var message = message(1)
        message.json = #"{"n":12345678901234567890.10,"x":[1, {"ä😀":null}],"content":"\u0000\u001b"}"#
        #expect(try await recorder.commit([message]) == [true])
        #expect(try kept() == [message])
        #expect(try kept(MessageFilter(status: .pendingSync)) == [message])
        await recorder.close()
    }

    @Test("Of messages with the same id, in upper or lower case, only the first is stored")
    func duplicates() async throws {
        let recorder = bench.recorder()
        var other = message(2, id: message(1).id.lowercased())
        other.json = "{}"
        #expect(try await recorder.commit([message(1), other, message(1)]) == [true, false, false])
        #expect(try await recorder.commit([message(1), message(2)]) == [false, true])
        #expect(try kept() == [message(1), message(2)])
        await recorder.close()
    }

    @Test("A synced message stays synced when it is received again")
    func synced() async throws {
        let recorder = bench.recorder()
        var synced = message(3)
        synced.status = .synced
        _ = try await recorder.commit([message(1), message(2), synced])
        _ = try await recorder.commit([message(1)], markingSynced: [message(1).id, "unknown"])
        #expect(try kept().map(\.status) == [.synced, .pendingSync, .synced])
        #expect(try kept(MessageFilter(status: .synced)).map(\.id) == [message(1).id, message(3).id])
        #expect(try kept(MessageFilter(status: .pendingSync)) == [message(2)])
        await recorder.close()
    }

    @Test("Messages are filtered by category")
    func categories() async throws {
        let recorder = bench.recorder()
        var sos = message(2)
        sos.category = "SOS"
        _ = try await recorder.commit([message(1), sos])
        #expect(try kept(MessageFilter(category: "SOS")) == [sos])
        #expect(try kept(MessageFilter(status: .synced, category: "SOS")) == [])
        await recorder.close()
    }

    @Test("The newest messages are the last that were stored, the last one first")
    func newest() async throws {
        let recorder = bench.recorder()
        var sos = message(1)
        sos.category = "SOS"
        _ = try await recorder.commit([sos, message(3), message(2)])
        #expect(try kept(MessageFilter(newest: 2)) == [message(2), message(3)])
        #expect(try kept(MessageFilter(newest: 5)) == [message(2), message(3), sos])
        #expect(try kept(MessageFilter(category: "SOS", newest: 1)) == [sos])
        await recorder.close()
    }

    @Test("10,000 messages keep their order, and another recorder recognises their ids")
    func many() async throws {
        let count = Seeds.amount(10_000, soak: 100_000)
        let first = bench.recorder()
        #expect(try await first.commit((0..<count).map { message($0) }).allSatisfy(\.self))
        await first.close()
        let second = bench.recorder()
        #expect(
            try await second.commit((count - 10..<count + 10).map { message($0) })
                == (count - 10..<count + 10).map { $0 >= count })
        await second.close()
        #expect(try kept().map(\.id) == (0..<count + 10).map { message($0).id })
        #expect(try bench.value("PRAGMA integrity_check") == "ok")
    }

    @Test("A commit to a locked database stores nothing, and is not retried")
    func refused() async throws {
        try await bench.prepare()
        let holder = try LockHolder(bench)
        let recorder = bench.recorder(patience: .milliseconds(10))
        let error = await #expect(throws: RecorderError.self) { try await recorder.commit([message(1)]) }
        #expect(error?.code == .locked)
        try holder.release()
        #expect(try await recorder.commit([message(2)]) == [true])
        #expect(try kept() == [message(2)])
        await recorder.close()
    }
}
