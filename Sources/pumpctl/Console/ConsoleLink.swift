import LineProtocol

/// The link of a console: lines are sent one after another, without the console waiting for it.
struct ConsoleLink {
    private let link: any Link
    private let outbox: AsyncStream<[UInt8]>.Continuation

    /// Tells `events` of what arrives, and of lines that can't be sent.
    init(_ link: any Link, _ events: AsyncStream<ConsoleEvent>.Continuation) async {
        self.link = link
        let (lines, outbox) = AsyncStream.makeStream(of: [UInt8].self)
        self.outbox = outbox
        Task(executorPreference: link.executor) {
            for await line in lines {
                do throws(LinkError) {
                    try await link.send(line + (link.keepsPacketBounds ? [] : [0x0A]))
                } catch {
                    events.yield(.notSent(line, error))
                }
            }
        }
        await link.forward { events.yield(.arrived($0)) }
    }

    func send(_ line: [UInt8]) { outbox.yield(line) }

    /// Closes the link. Lines that wait to be sent are told of as not sent.
    func close() async {
        outbox.finish()
        await link.close()
    }
}
