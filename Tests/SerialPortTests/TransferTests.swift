import Glibc
import Testing

@testable import SerialPort

@Suite struct TransferTests {
    let terminal: PseudoTerminal
    let port: SerialPort

    init() throws {
        terminal = try PseudoTerminal()
        port = try SerialPort(path: terminal.path)
    }

    @Test func `Every byte passes unchanged in both directions`() throws {
        let all = (0...255).map(UInt8.init)
        #expect(try port.send(all) == .bytes(256))
        #expect(try terminal.receive(256) == all)
        #expect(try terminal.send(all) == .bytes(256))
        #expect(try port.receive(256) == all)
        #expect(try terminal.readOnce() == nil)
    }

    @Test func `Reading without input returns nil`() throws {
        #expect(try port.readOnce() == nil)
        #expect(try terminal.readOnce() == nil)
    }

    @Test func `Moving zero bytes succeeds in both directions`() throws {
        #expect(try port.send([]) == .bytes(0))
        #expect(try port.readOnce(upTo: 0) == [])
        #expect(try terminal.send([]) == .bytes(0))
        #expect(try terminal.readOnce(upTo: 0) == [])
    }

    @Test func `A full port refuses more bytes and loses none of those that it took`() throws {
        let block = [UInt8](repeating: 7, count: 1000)
        var taken = 0
        while case .bytes(let count) = try port.send(block) { taken += count }
        #expect(taken > 1000)
        #expect(try terminal.receive(taken).count == taken)
        #expect(try port.send([1]) == .bytes(1))
    }

    @Test func `Input of a vanished peer is read before the port is disconnected`() throws {
        #expect(try terminal.send([1, 2]) == .bytes(2))
        #expect(try port.receive(1) == [1])
        terminal.close()
        var error = try failure {
            while try port.readOnce() != nil {}
            Issue.record("the end was taken for no data yet")
        }
        #expect(error.code == .disconnected)
        error = try failure { _ = try port.send([1]) }
        #expect(error.code == .disconnected)
        #expect(error.hint != nil)
    }

    @Test func `Every operation on a vanished port fails with disconnected`() throws {
        terminal.close()
        let operations: [(SerialPort) throws -> Void] = [
            { port in _ = try port.currentOptions() },
            { port in try port.apply(SerialOptions(baudRate: 19200)) },
            { port in _ = try port.modemLines() },
            { port in try port.setDTR(true) },
            { port in try port.setBreak(true) },
            { port in try port.flush(.both) },
            { port in _ = try port.queuedInput() },
            { port in _ = try port.queuedOutput() },
            { port in try port.drain(deadline: .now + .seconds(60)) },
        ]
        for operation in operations {
            #expect(try failure { try operation(port) }.code == .disconnected)
        }
        #expect(port.close() == .disconnected)
    }

    @Test func `A read that returns 0 bytes because of VMIN 0 does not mean the end`() throws {
        var settings = termios()
        #expect(tcgetattr(port.descriptor, &settings) == 0)
        settings.c_cc.6 = 0  // VMIN
        #expect(tcsetattr(port.descriptor, TCSANOW, &settings) == 0)
        #expect(try port.readOnce() == nil)
    }

    @Test func `Waiting input is counted, and discarded only by an input flush`() throws {
        #expect(try terminal.send([1, 2, 3]) == .bytes(3))
        var entry = pollfd(fd: port.descriptor, events: Int16(POLLIN), revents: 0)
        #expect(poll(&entry, 1, 60_000) == 1)
        #expect(try port.queuedInput() == 3)
        try port.flush(.output)
        #expect(try port.queuedInput() == 3)
        try port.flush(.input)
        #expect(try port.queuedInput() == 0)
        #expect(try port.readOnce() == nil)
        #expect(try port.queuedOutput() == 0)
    }

    @Test func `Modem lines and latency are unsupported on a pseudo-terminal`() throws {
        let operations: [(SerialPort) throws -> Void] = [
            { port in _ = try port.modemLines() },
            { port in try port.setDTR(true) },
            { port in try port.setRTS(false) },
            { port in _ = try port.isLowLatency() },
            { port in try port.setLowLatency(true) },
        ]
        for operation in operations {
            let error = try failure { try operation(port) }
            #expect(error.code == .unsupported)
            #expect(error.errno == ENOTTY)
        }
    }

    @Test func `A pseudo-terminal accepts a break`() throws {
        try port.setBreak(true)
        try port.setBreak(false)
    }
}
