public import BlueZ
public import FirmwareSim

extension Emission {
    /// Creates a notification of `bytes` by a characteristic, at `time`.
    public init(bytes: [UInt8], time: Duration, characteristic: BluetoothUUID) {
        self.init(bytes: bytes, time: time, output: characteristic.bits)
    }

    /// The characteristic of the notification; nil on a line.
    public var characteristic: BluetoothUUID? { output.map(BluetoothUUID.init(bits:)) }
}
