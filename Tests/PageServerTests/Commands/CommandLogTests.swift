import Testing

@testable import PageServer

@Suite("Answers by the IDs of commands")
struct CommandLogTests {
    private func entry(_ number: Int, at time: Duration) -> CommandLog<Int>.Entry {
        .init(time: time, request: 0, answer: Task { number })
    }

    @Test("An answer is kept for ten minutes")
    func time() async {
        var log = CommandLog<Int>()
        log.add("a", entry(1, at: .seconds(0)))
        log.add("b", entry(2, at: .seconds(300)))
        #expect(await log.entry("a", at: .seconds(600))?.answer.value == 1)
        #expect(log.entry("a", at: .seconds(601)) == nil)
        #expect(await log.entry("b", at: .seconds(900))?.answer.value == 2)
        #expect(log.entry("b", at: .seconds(901)) == nil)
    }

    @Test("The last 10,000 answers are kept")
    func capacity() async {
        var log = CommandLog<Int>()
        for number in 0..<10_001 { log.add("\(number)", entry(number, at: .zero)) }
        #expect(log.entry("0", at: .zero) == nil)
        #expect(await log.entry("1", at: .zero)?.answer.value == 1)
        #expect(await log.entry("10000", at: .zero)?.answer.value == 10_000)
    }
}
