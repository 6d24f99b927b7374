import DescriptorIO
import Glibc
import Testing

@testable import SerialPort

/// A monitor of this computer's own ports. Without a running udev the monitor is silent.
@Suite struct DiscoveryMonitorTests {
    @Test func `A closed monitor ends its sequence at once and lists no ports`() async throws {
        let monitor = try SerialPortMonitor()
        monitor.close()
        monitor.close()
        for try await event in monitor { Issue.record("\(event)") }
        let error = try failure { _ = try monitor.presentPorts() }
        #expect(error.code == .closed)
    }

    @Test func `Closing the monitor ends a waiting task`() async throws {
        let monitor = try SerialPortMonitor()
        let present = try monitor.presentPorts()
        let task = Task(executorPreference: EventLoop.shared) {
            for try await event in monitor where !present.contains(where: { event == .detached($0) }) { _ = event }
        }
        await untilWaiting()
        monitor.close()
        try await task.value
    }

    @Test func `Cancelling ends a task that waits for the monitor`() async throws {
        let monitor = try SerialPortMonitor()
        let task = Task(executorPreference: EventLoop.shared) {
            for try await _ in monitor {}
        }
        await untilWaiting()
        task.cancel()
        try await task.value
        monitor.close()
    }

    @Test func `A hundred monitors leak no socket`() async throws {
        let before = netlinkSockets()
        for number in 0..<100 {
            let monitor = try SerialPortMonitor()
            if number % 2 == 0 { _ = try monitor.presentPorts() }
            if number % 4 == 0 { monitor.close() }
        }
        #expect(netlinkSockets() <= before + 4)
    }

    /// Lets the loop run the jobs in which a task on it reads the pending events and begins to wait for the monitor.
    private func untilWaiting() async {
        for _ in 0..<10 { await Task(executorPreference: EventLoop.shared) {}.value }
    }

    /// The number of this process's descriptors that are netlink sockets. Other tests may hold some at the same time.
    private func netlinkSockets() -> Int {
        (0..<4096).count { number in
            var domain: CInt = 0
            var length = socklen_t(MemoryLayout<CInt>.size)
            return getsockopt(CInt(number), SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_NETLINK
        }
    }
}
