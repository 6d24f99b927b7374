import Glibc
import TestSupport
import Testing

@testable import SerialPort

@Suite struct SettingsTests {
    let terminal: PseudoTerminal

    init() throws {
        terminal = try PseudoTerminal()
    }

    @Test func `A new port has the documented default options`() throws {
        let port = try SerialPort(path: terminal.path)
        let options = try port.currentOptions()
        #expect(options == SerialOptions())
        #expect(options.baudRate == 9600 && options.dataBits == 8 && options.parity == .none)
        #expect(options.stopBits == .one && options.flowControl == .none && options.exclusivity == .exclusive)
        #expect(!options.hangUpOnClose && !options.lowLatency && options.drainTimeout == .seconds(2))
        #expect(options.dtrOnOpen == .untouched && options.rtsOnOpen == .untouched)
    }

    @Test(arguments: [1, 50, 300, 9600, 12345, 31250, 57600, 74880, 115_200, 250_000, 921_600, 3_686_400, 12_000_000])
    func `Any baud rate is accepted, and visible at the other end`(rate: Int) throws {
        let port = try SerialPort(path: terminal.path, options: SerialOptions(baudRate: rate))
        #expect(try port.currentOptions().baudRate == rate)
        #expect(try terminal.clientOptions().baudRate == rate)
    }

    @Test func `A standard baud rate is visible to programs that use the older termios`() throws {
        let port = try SerialPort(path: terminal.path, options: SerialOptions(baudRate: 115_200))
        var settings = termios()
        #expect(tcgetattr(port.descriptor, &settings) == 0)
        #expect(cfgetospeed(&settings) == speed_t(B115200))
        #expect(cfgetispeed(&settings) == speed_t(B115200))
    }

    @Test func `The first opening of a port reports that echo was on`() async throws {
        let other = try await ChildProcess(["sh", "-c", "stty echo <'\(terminal.path)'; echo done; read x"])
        #expect(try await other.output.line() == "done")
        #expect(try SerialPort(path: terminal.path).echoed)
        #expect(try !SerialPort(path: terminal.path).echoed)
    }

    @Test(arguments: SerialOptions.StopBits.allCases)
    func `Stop bits are read back`(stopBits: SerialOptions.StopBits) throws {
        let port = try SerialPort(path: terminal.path, options: SerialOptions(stopBits: stopBits))
        #expect(try port.currentOptions().stopBits == stopBits)
        #expect(try terminal.clientOptions().stopBits == stopBits)
    }

    @Test(arguments: SerialOptions.FlowControl.allCases)
    func `Flow control is read back`(flowControl: SerialOptions.FlowControl) throws {
        let port = try SerialPort(path: terminal.path, options: SerialOptions(flowControl: flowControl))
        #expect(try port.currentOptions().flowControl == flowControl)
        #expect(try terminal.clientOptions().flowControl == flowControl)
    }

    @Test(arguments: [false, true])
    func `The hang-up setting is applied, whatever it was before`(hangUp: Bool) throws {
        try SerialPort(path: terminal.path, options: SerialOptions(hangUpOnClose: !hangUp)).close()
        #expect(try terminal.clientOptions().hangUpOnClose == !hangUp)
        try SerialPort(path: terminal.path, options: SerialOptions(hangUpOnClose: hangUp)).close()
        #expect(try terminal.clientOptions().hangUpOnClose == hangUp)
    }

    @Test(arguments: [SerialOptions.Parity.odd, .even, .mark, .space])
    func `A parity that the driver drops is reported as refused`(parity: SerialOptions.Parity) throws {
        let asked = SerialOptions(parity: parity)
        let error = try failure { _ = try SerialPort(path: terminal.path, options: asked) }
        var taken = asked
        taken.parity = .none
        #expect(error.code == .settingsRefused(asked: asked, taken: taken))
        #expect(asked.differences(from: taken) == [.parity])
        #expect(error.description.contains("parity \(parity)"))
    }

    @Test(arguments: 5...7)
    func `A character size that the driver drops is reported as refused`(dataBits: Int) throws {
        let asked = SerialOptions(dataBits: dataBits)
        let error = try failure { _ = try SerialPort(path: terminal.path, options: asked) }
        var taken = asked
        taken.dataBits = 8
        #expect(error.code == .settingsRefused(asked: asked, taken: taken))
    }

    @Test func `A port with refused settings is closed and can be opened at once`() throws {
        _ = try failure {
            _ = try SerialPort(path: terminal.path, options: SerialOptions(parity: .even))
        }
        #expect(try SerialPort(path: terminal.path).currentOptions() == SerialOptions())
    }

    @Test(arguments: [
        SerialOptions(baudRate: 0), SerialOptions(baudRate: -1), SerialOptions(baudRate: .max),
        SerialOptions(dataBits: 4), SerialOptions(dataBits: 9), SerialOptions(drainTimeout: .seconds(-1)),
    ])
    func `Options out of range are refused before anything is opened`(options: SerialOptions) throws {
        let error = try failure { _ = try SerialPort(path: "/proc/nowhere", options: options) }
        #expect(error.code == .invalidOption)
        #expect(error.hint != nil)
    }

    @Test func `Every setting can be changed on an open port`() throws {
        let port = try SerialPort(path: terminal.path)
        let wanted = SerialOptions(baudRate: 250_000, stopBits: .two, flowControl: .xonXoff, hangUpOnClose: true)
        try port.apply(wanted)
        #expect(try port.currentOptions() == wanted)
        try port.apply(SerialOptions())
        #expect(try port.currentOptions() == SerialOptions())
    }

    @Test func `The exclusivity of an open port cannot be changed`() throws {
        let port = try SerialPort(path: terminal.path)
        let error = try failure { try port.apply(SerialOptions(exclusivity: .shared)) }
        #expect(error.code == .invalidOption)
    }

    @Test func `Settings changed by another program are read back`() async throws {
        let port = try SerialPort(path: terminal.path)
        let other = try await ChildProcess(["sh", "-c", "stty 19200 cstopb <'\(terminal.path)'; echo done; read x"])
        #expect(try await other.output.line() == "done")
        #expect(try port.currentOptions().baudRate == 19200)
        #expect(try port.currentOptions().stopBits == .two)
    }

    @Test(arguments: [(9600, 9600, true), (115_200, 113_000, true), (115_200, 112_000, false), (100, 103, false)])
    func `A baud rate within two percent counts as taken`(asked: Int, taken: Int, isTaken: Bool) {
        let differences = SerialOptions(baudRate: asked).differences(from: SerialOptions(baudRate: taken))
        #expect(differences.isEmpty == isTaken)
    }
}
