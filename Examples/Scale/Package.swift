// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Scale",
    dependencies: [.package(name: "pumpctl", path: "../..")],
    targets: [
        // The host's side: the protocol, and a `Family` that describes a scale to programs for devices of any family.
        .target(
            name: "Scale",
            dependencies: [
                .product(name: "DeviceKit", package: "pumpctl"), .product(name: "LineProtocol", package: "pumpctl"),
                .product(name: "Transports", package: "pumpctl"),
            ]),
        // The device's side: a simulator that shares no code with the target Scale, so that tests find disagreements.
        .target(name: "ScaleSim", dependencies: [.product(name: "FirmwareSim", package: "pumpctl")]),
        .executableTarget(name: "scale-tool", dependencies: ["Scale"]),
        .executableTarget(
            name: "scale-sim",
            dependencies: [
                "ScaleSim", .product(name: "PeripheralSim", package: "pumpctl"),
                .product(name: "BlueZ", package: "pumpctl"),
                .product(name: "DescriptorIO", package: "pumpctl"),
            ]),
        .testTarget(
            name: "ScaleTests",
            dependencies: [
                "Scale", "ScaleSim", .product(name: "FirmwareSim", package: "pumpctl"),
                .product(name: "DeviceTestKit", package: "pumpctl"),
            ]),
    ]
)
