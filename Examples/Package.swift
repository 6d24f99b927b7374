// swift-tools-version: 6.2
import PackageDescription

func example(_ name: String, _ libraries: String...) -> Target {
    .executableTarget(name: name, dependencies: libraries.map { .product(name: $0, package: "pumpctl") })
}

let package = Package(
    name: "Examples",
    dependencies: [.package(name: "pumpctl", path: "..")],
    targets: [
        example("read-pump", "DeviceKit", "LineProtocol", "Transports"),
        example("follow-pump", "DeviceKit", "LineProtocol", "Transports"),
        example("own-simulator", "FirmwareSim"),
        example("fetch-log", "DeviceKit", "LineProtocol", "Transports"),
        example("scan-ble", "BlueZ"),
        example("check-link", "DeviceTestKit", "SerialPort", "Transports"),
    ]
)
