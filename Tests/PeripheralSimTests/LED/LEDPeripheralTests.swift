import BlueZ
import FirmwareSim
import PeripheralSim
import Testing

@Suite("The LED board over BLE")
struct LEDPeripheralTests {
    private static let led: BluetoothUUID = "957312E0-2354-11EB-9F10-FBC30A62CF38"

    /// Writes to the LED; returns the resulting notifications.
    private func write(_ bytes: [UInt8], _ board: inout LEDPeripheral, at instant: Duration = .zero) -> [Emission] {
        board.take(.wrote(bytes, to: Self.led, mtu: 23), at: instant)
        return board.advance(to: instant)
    }

    @Test("The board is named ece196 and has one characteristic to read, write and notify")
    func description() {
        let offered = LEDPeripheral().offered
        #expect(offered.name == "ece196")
        #expect(offered.services.map(\.uuid) == ["937312E0-2354-11EB-9F10-FBC30A62CF38"])
        #expect(offered.services[0].characteristics.map(\.uuid) == [Self.led])
        #expect(offered.services[0].characteristics[0].flags == [.read, .write, .notify])
        #expect(offered.budget.fits)
    }

    @Test("0 is off and every other byte is on, and a read returns 0 or 1")
    func values() {
        var board = LEDPeripheral()
        #expect(board.read(Self.led, at: .zero) == [0])
        for byte in UInt8.min...UInt8.max {
            _ = write([byte], &board)
            #expect(board.isLit == (byte != 0))
            #expect(board.read(Self.led, at: .zero) == [byte == 0 ? 0 : 1])
        }
    }

    @Test("A write of other than one byte is ignored", arguments: [[], [0, 0], Array("LED:0\n".utf8)])
    func noValue(bytes: [UInt8]) {
        var board = LEDPeripheral(isLit: true)
        #expect(write(bytes, &board).isEmpty)
        #expect(board.isLit)
    }

    @Test("A change is notified, and a repeated value is not")
    func notifications() {
        var board = LEDPeripheral()
        let instant = Duration.seconds(3)
        #expect(write([9], &board, at: instant) == [Emission(bytes: [1], time: instant, characteristic: Self.led)])
        #expect(write([1], &board, at: instant).isEmpty)
        #expect(write([0], &board, at: instant).map(\.bytes) == [[0]])
        #expect(board.isQuiescent)
    }

    @Test("A mute board does not notify")
    func mute() {
        var board = LEDPeripheral(notifies: false)
        #expect(board.offered.services[0].characteristics[0].flags == [.read, .write])
        #expect(write([1], &board).isEmpty)
        #expect(board.isLit)
    }

    @Test("A reset switches the LED off and notifies")
    func reset() {
        var board = LEDPeripheral(isLit: true)
        board.reset(at: .seconds(1))
        #expect(!board.isLit)
        #expect(board.advance(to: .seconds(1)).map(\.bytes) == [[0]])
    }

    @Test("A switch by hand is notified unless the board is mute")
    func light() async throws {
        let board = await ControlledDevice(LEDPeripheral())
        #expect(try await board.perform("light", "on").map(\.bytes) == [[1]])
        #expect(try await board.perform("light", "on").isEmpty)
        _ = try await board.perform("set", "mute", "on")
        #expect(try await board.perform("light", "off").isEmpty)
        #expect(await board.host.change { device, now in device.read(Self.led, at: now) } == [0])
        _ = try await board.perform("set", "mute", "off")
        #expect(try await board.perform("light", "on").map(\.bytes) == [[1]])
    }

    @Test("A board offered as mute cannot notify later")
    func staysMute() async {
        let host = DeviceHost(LEDPeripheral(notifies: false), pace: .onDemand)
        let failure = await #expect(throws: DeviceVerbError.self) {
            try await host.handle.perform("set", ["mute", "off"])
        }
        #expect(failure?.hint?.contains("--mute") == true)
    }
}
