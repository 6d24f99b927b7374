import Testing

@testable import FirmwareSim

@Suite("The simulated UART")
struct UARTTests {
    @Test(
        "A byte takes ten bit times",
        arguments: [
            (LineRate.baud(1000), Duration.milliseconds(10)), (.baud(115_200), .seconds(10) / 115_200),
            (.unlimited, .zero), (.baud(0), .seconds(10)), (.baud(-9600), .seconds(10)),
        ])
    func byteTime(rate: LineRate, time: Duration) {
        #expect(rate.timePerByte == time)
    }

    @Test("Bytes arrive one byte time apart, after those sent before")
    func arrivals() {
        var uart = UART(rate: .baud(1000))
        uart.send([1, 2], at: .seconds(1))
        uart.send([3], at: .seconds(1))
        uart.send([4], at: .seconds(2))
        var times: [Duration] = []
        while let arrival = uart.nextArrival {
            times.append(arrival)
            uart.takeArrival(keeping: true)
        }
        #expect(times == [1010, 1020, 1030, 2010].map { .milliseconds($0) })
        #expect((0..<5).map { _ in uart.read() } == [1, 2, 3, 4, nil])
    }

    @Test("The receive ring keeps the oldest 63 bytes and counts the dropped ones")
    func receiveRing() {
        var uart = UART(rate: .unlimited)
        uart.send(Array(0..<70), at: .zero)
        while uart.nextArrival != nil { uart.takeArrival(keeping: true) }
        #expect(uart.overflows == 7)
        for byte in UInt8(0)..<63 { #expect(uart.read() == byte) }
        #expect(uart.read() == nil)
        #expect(!uart.hasUnreadInput)
    }

    @Test("The transmitter holds 63 bytes, the next one and the one being sent")
    func transmitRing() {
        var uart = UART(rate: .baud(1000))
        for byte in UInt8(0)..<65 {
            let written = uart.write(byte, at: .zero)
            #expect(written)
        }
        let refused = uart.write(65, at: .milliseconds(9))
        #expect(!refused)
        #expect(uart.nextDeparture == .milliseconds(10))
        let written = uart.write(65, at: .milliseconds(10))
        #expect(written)
        uart.transmit(until: .seconds(1))
        #expect(uart.takeEmissions() == [Emission(bytes: Array(0..<66), time: .milliseconds(660))])
        #expect(uart.takeEmissions().isEmpty)
    }

    @Test("Bytes that are not sent back to back are separate emissions")
    func gaps() {
        var uart = UART(rate: .baud(1000))
        _ = uart.write(1, at: .zero)
        _ = uart.write(2, at: .milliseconds(15))
        uart.transmit(until: .seconds(1))
        #expect(
            uart.takeEmissions() == [
                Emission(bytes: [1], time: .milliseconds(10)), Emission(bytes: [2], time: .milliseconds(25)),
            ])
    }

    @Test("A cleared UART has nothing to read or send, but still receives bytes in transit")
    func cleared() {
        var uart = UART(rate: .baud(1000))
        uart.send([1, 2], at: .zero)
        uart.takeArrival(keeping: true)
        _ = uart.write(9, at: .zero)
        uart.clear()
        #expect(uart.read() == nil)
        #expect(uart.nextDeparture == nil)
        #expect(uart.nextArrival == .milliseconds(20))
    }
}
