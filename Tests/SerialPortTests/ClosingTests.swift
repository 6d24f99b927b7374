import DescriptorIO
import Glibc
import Testing

@testable import SerialPort

@Suite struct ClosingTests {
    let terminal: PseudoTerminal
    let port: SerialPort

    init() throws {
        terminal = try PseudoTerminal()
        port = try SerialPort(path: terminal.path)
    }

    @Test func `Closing twice is harmless`() {
        #expect(!port.isClosed)
        #expect(port.close() == .drained)
        #expect(port.close() == .alreadyClosed)
        #expect(port.isClosed)
    }

    @Test func `Closing unlocks the port, also while a child still has the inherited descriptor`() throws {
        // A child's copy of the descriptor shares the lock.
        let copy = dup(port.descriptor)
        defer { close(copy) }
        port.close()
        let next = try SerialPort(path: terminal.path)
        next.close()
    }

    @Test func `Closing the port's channel unlocks the port, also while a child has its descriptor`() async throws {
        let copy = dup(port.descriptor)
        defer { close(copy) }
        await port.channel().close()
        let next = try SerialPort(path: terminal.path)
        next.close()
    }

    @Test func `Every operation on a closed port fails with closed`() throws {
        port.close()
        let operations: [(SerialPort) throws -> Void] = [
            { port in _ = try port.readOnce() },
            { port in _ = try port.send([1]) },
            { port in _ = try port.currentOptions() },
            { port in try port.apply(SerialOptions()) },
            { port in _ = try port.modemLines() },
            { port in try port.setRTS(true) },
            { port in try port.setBreak(true) },
            { port in try port.flush(.both) },
            { port in _ = try port.queuedInput() },
            { port in try port.drain(deadline: .now) },
            { port in try port.setLowLatency(true) },
        ]
        for operation in operations {
            #expect(try failure { try operation(port) }.code == .closed)
        }
    }

    @Test func `Bytes written before closing reach the other end`() throws {
        #expect(try port.send(Array("OFF\n".utf8)) == .bytes(4))
        #expect(port.close() == .drained)
        #expect(try terminal.receive(4) == Array("OFF\n".utf8))
    }

    @Test func `A released port closes itself`() throws {
        func openAndForget() throws -> Int {
            let terminal = try PseudoTerminal(holdsSlaveOpen: false)
            _ = try SerialPort(path: terminal.path)
            return descriptors(to: terminal.path)
        }
        #expect(try openAndForget() == 0)
    }

    @Test func `Draining ends when no output is left`() throws {
        #expect(try port.send([1]) == .bytes(1))
        try port.drain(deadline: .now + .seconds(60))
    }

    @Test func `Closing the port ends concurrent reads and writes with closed`() async throws {
        for _ in 0..<50 {
            let terminal = try PseudoTerminal()
            let port = try SerialPort(path: terminal.path)
            let codes = await withTaskGroup(of: SerialError.Code.self) { group in
                for isReader in [true, true, false] {
                    group.addTask {
                        while true {
                            do throws(SerialError) {
                                if isReader { _ = try port.readOnce() } else { _ = try port.send([1]) }
                            } catch {
                                return error.code
                            }
                            await Task.yield()
                        }
                    }
                }
                group.addTask {
                    await Task.yield()
                    port.close()
                    return .closed
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(codes == Array(repeating: .closed, count: 4))
            // The pseudo-terminal itself holds its slave open.
            #expect(descriptors(to: terminal.path) == 1)
        }
    }
}

@Suite struct SharedDescriptorTests {
    @Test func `A borrowed descriptor is closed when its last borrower returns it`() throws {
        let terminal = try PseudoTerminal(holdsSlaveOpen: false)
        let shared = SharedDescriptor(open(terminal.path, O_RDWR | O_NOCTTY | O_CLOEXEC))
        #expect(shared.borrow() == shared.number)
        #expect(shared.retire() == shared.number)
        #expect(shared.retire() == nil)
        #expect(shared.borrow() == nil)
        shared.giveBack()
        #expect(descriptors(to: terminal.path) == 1)
        shared.giveBack()
        #expect(descriptors(to: terminal.path) == 0)
    }
}
