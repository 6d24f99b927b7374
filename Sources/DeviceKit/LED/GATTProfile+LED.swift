internal import BlueZ
internal import LineProtocol
public import Transports

extension GATTProfile {
    /// The profile of an LED board, with a value for each `LEDEndpoint`. A write is one byte, the whole value.
    public static let led = GATTProfile(
        "led", families: ["led"], services: ["937312E0-2354-11EB-9F10-FBC30A62CF38"],
        write: "957312E0-2354-11EB-9F10-FBC30A62CF38", hear: "957312E0-2354-11EB-9F10-FBC30A62CF38",
        deviceKind: "an LED board", writeType: .request, chunkLength: 1,
        values: LEDEndpoint.all.compactMap { endpoint in
            BluetoothUUID(endpoint.characteristic).map { characteristic in
                GATTValue(endpoint.lineName, characteristic: characteristic, encoding: endpoint.kind.encoding)
            }
        })
}

extension LEDEndpoint.Kind {
    /// The encoding of a value of this kind in a characteristic.
    fileprivate var encoding: GATTValue.Encoding {
        switch self {
        case .boolean: .boolean
        }
    }
}
