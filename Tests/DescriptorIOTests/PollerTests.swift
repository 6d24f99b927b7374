import Glibc
import TestSupport
import Testing

@testable import DescriptorIO

@Suite("Pollers", .timeLimit(.minutes(5)))
final class PollerTests {
    /// Stands in for the loop's eventfd.
    private let wake: (near: CInt, far: CInt)
    private var poller: Poller
    private let ends: [(near: CInt, far: CInt)]

    init() throws {
        wake = try socketPair()
        poller = Poller(wakeDescriptor: wake.near)
        ends = try (0..<200).map { _ in try socketPair() }
    }

    deinit {
        poller.close()
        for pair in ends + [wake] {
            close(pair.near)
            close(pair.far)
        }
    }

    /// Selects epoll; if false, poll(2) for all descriptors.
    private func use(epoll isUsed: Bool) {
        guard !isUsed else { return }
        poller.close()
        poller = Poller(wakeDescriptor: wake.near, usesEpoll: false)
    }

    /// A handler, identified by number, that ignores events.
    private final class Hearer: PollHandler {
        let number: Int
        init(_ number: Int) { self.number = number }
        func ready(_ events: CShort) {}
    }

    /// Polls once; returns the reported events by handler number.
    private func look() -> [Int: CShort] {
        var reports: [Poller.Report] = []
        poller.wait(timeout: 0, into: &reports)
        return Dictionary(
            reports.map { (($0.handler as? Hearer)?.number ?? -1, $0.events) }, uniquingKeysWith: { $0 | $1 })
    }

    @Test(arguments: [true, false])
    func `All ready descriptors are reported, if need be over several waits`(usesEpoll: Bool) {
        use(epoll: usesEpoll)
        for (number, pair) in ends.enumerated() {
            _ = poller.add(pair.near, events: CShort(POLLIN), handler: Hearer(number))
        }
        #expect(look().isEmpty)
        write(ends[7].far, "!", 1)
        write(ends[11].far, "!", 1)
        #expect(look() == [7: CShort(POLLIN), 11: CShort(POLLIN)])
        // One wait reports fewer descriptors than these.
        for pair in ends { write(pair.far, "!", 1) }
        var told = Set<Int>()
        for _ in 0..<10 { told.formUnion(look().keys) }
        #expect(told.count == ends.count)
    }

    @Test(arguments: [true, false])
    func `The requested events are reported, and a hang-up always`(usesEpoll: Bool) {
        use(epoll: usesEpoll)
        let token = poller.add(ends[0].near, events: CShort(POLLIN), handler: Hearer(0))
        poller.setInterest(token, events: CShort(POLLIN | POLLOUT))
        #expect(look() == [0: CShort(POLLOUT)])
        poller.setInterest(token, events: 0)
        write(ends[0].far, "!", 1)
        #expect(look().isEmpty)
        shutdown(ends[0].far, CInt(SHUT_RDWR))
        #expect(look()[0].map { $0 & CShort(POLLHUP) } == CShort(POLLHUP))
        poller.setInterest(token, events: CShort(POLLIN))
        #expect(look()[0].map { $0 & CShort(POLLIN) } == CShort(POLLIN))
    }

    @Test(arguments: [true, false])
    func `A removed descriptor is not reported, even if a duplicate is open`(usesEpoll: Bool) {
        use(epoll: usesEpoll)
        let token = poller.add(ends[0].near, events: CShort(POLLIN | POLLOUT), handler: Hearer(0))
        let copy = dup(ends[0].near)
        defer { close(copy) }
        #expect(look().keys.contains(0))
        poller.remove(token)
        poller.remove(token)
        #expect(look().isEmpty)
    }

    @Test(arguments: [true, false])
    func `A reused descriptor number counts as a new descriptor`(usesEpoll: Bool) {
        use(epoll: usesEpoll)
        let first = dup(ends[0].near)
        let token = poller.add(first, events: CShort(POLLOUT), handler: Hearer(0))
        poller.remove(token)
        // dup2 reuses the number in one step, because other tests open descriptors at the same time.
        let second = dup2(ends[1].near, first)
        defer { close(second) }
        #expect(second == first)
        _ = poller.add(second, events: CShort(POLLIN), handler: Hearer(1))
        #expect(look().isEmpty)
        write(ends[1].far, "!", 1)
        #expect(look() == [1: CShort(POLLIN)])
        poller.setInterest(token, events: CShort(POLLOUT))
        #expect(look() == [1: CShort(POLLIN)])
    }

    @Test(arguments: [true, false])
    func `Two handlers can wait on one descriptor`(usesEpoll: Bool) {
        use(epoll: usesEpoll)
        let first = poller.add(ends[0].near, events: CShort(POLLIN), handler: Hearer(1))
        let second = poller.add(ends[0].near, events: CShort(POLLOUT), handler: Hearer(2))
        write(ends[0].far, "!", 1)
        #expect(look() == [1: CShort(POLLIN), 2: CShort(POLLOUT)])
        poller.remove(first)
        #expect(look() == [2: CShort(POLLOUT)])
        poller.remove(second)
        #expect(look().isEmpty)
    }

    @Test(arguments: [true, false])
    func `A regular file is always readable`(usesEpoll: Bool) {
        use(epoll: usesEpoll)
        let file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        let token = poller.add(file, events: CShort(POLLIN), handler: Hearer(0))
        #expect(look() == [0: CShort(POLLIN)])
        write(ends[0].far, "!", 1)
        _ = poller.add(ends[0].near, events: CShort(POLLIN), handler: Hearer(1))
        #expect(look() == [0: CShort(POLLIN), 1: CShort(POLLIN)])
        poller.setInterest(token, events: 0)
        #expect(look() == [1: CShort(POLLIN)])
        poller.remove(token)
        #expect(look() == [1: CShort(POLLIN)])
    }

    @Test(arguments: [true, false])
    func `A poller is woken through its descriptor, once per wake-up`(usesEpoll: Bool) {
        use(epoll: usesEpoll)
        var reports: [Poller.Report] = []
        // An eventfd is read in units of 8 bytes.
        write(wake.far, "12345678", 8)
        poller.wait(timeout: nil, into: &reports)
        #expect(reports.isEmpty)
        poller.wait(timeout: 0, into: &reports)
        var byte: UInt8 = 0
        #expect(recv(wake.near, &byte, 1, CInt(MSG_DONTWAIT)) == -1, "the wake-up was taken")
    }
}
