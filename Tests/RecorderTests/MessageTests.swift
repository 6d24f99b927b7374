import RecordFormat
import Recorder
import Testing

@Suite("Messages", .timeLimit(.minutes(2)))
struct MessageTests {
    private let bench = RecordBench()

    @Test("A message is kept as it came, and waits to be handed on")
    func kept() async throws {
        let recorder = bench.recorder()
        #expect(try await recorder.store([message(1)]) == 1)
        #expect(try RecordReader(bench.path).messages() == [message(1)])
        #expect(try RecordReader(bench.path).messages(.pendingSync).count == 1)
        await recorder.close()
    }

    @Test("An id is kept once, in whatever case it is written, and the first message stands")
    func duplicates() async throws {
        let recorder = bench.recorder()
        var other = message(2, id: message(1).id.lowercased())
        other.text = "another text"
        #expect(try await recorder.store([message(1), other, message(1)]) == 1)
        #expect(try await recorder.store([message(1), message(2)]) == 1)
        #expect(try RecordReader(bench.path).messages() == [message(1), message(2)])
        await recorder.close()
    }

    @Test("A message that was handed on is marked, and stays so when it comes again")
    func synced() async throws {
        let recorder = bench.recorder()
        _ = try await recorder.store([message(1), message(2)])
        #expect(try await recorder.markSynced([message(1).id, "unknown"]) == 1)
        #expect(try await recorder.markSynced([message(1).id]) == 0)
        _ = try await recorder.store([message(1)])
        let reader = try RecordReader(bench.path)
        #expect(try reader.messages(.synced).map(\.id) == [message(1).id])
        #expect(try reader.messages(.pendingSync).map(\.id) == [message(2).id])
        await recorder.close()
    }

    @Test("100,000 messages are kept, in their order, and found again by another recorder")
    func many() async throws {
        let first = bench.recorder()
        #expect(try await first.store((0..<100_000).map { message($0) }) == 100_000)
        await first.close()
        let second = bench.recorder()
        #expect(try await second.store((99_990..<100_010).map { message($0) }) == 10)
        await second.close()
        let kept = try RecordReader(bench.path).messages()
        #expect(kept.map(\.id) == (0..<100_010).map { message($0).id })
    }
}
