import BlueZ
import Testing

@testable import Transports

@Suite struct PairingAdviceTests {
    @Test(arguments: [true, false])
    func `Pairing advice includes removing the old pairing from this computer first`(
        wasAskedFor: Bool
    ) throws {
        let address = try #require(BluetoothAddress("00:15:83:00:00:10"))
        let text = PairingAdvice(address: address, wasAskedFor: wasAskedFor).text
        #expect(text.contains("add ?pair to the endpoint") == !wasAskedFor)
        #expect(text.hasSuffix("; if it was paired before, first: bluetoothctl remove 00:15:83:00:00:10"))
    }
}
