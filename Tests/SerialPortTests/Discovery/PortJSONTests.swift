import SerialPort
import TestSupport
import Testing

@Suite("Serial ports in JSON") struct PortJSONTests {
    @Test func `A port that is not USB has few keys, and no null`() throws {
        #expect(try sortedJSON(SerialPortInfo(path: "/dev/ttyS0")) == #"{"links":[],"port":"/dev/ttyS0"}"#)
    }

    @Test func `An adapter has a key for everything that udev knows`() throws {
        var port = SerialPortInfo(path: "/dev/ttyUSB0")
        port.links = ["/dev/serial/by-id/usb-FTDI_A5", "/dev/serial/by-path/pci-1"]
        port.driver = "ftdi_sio"
        port.pathTag = "pci-1"
        var usb = SerialPortInfo.USB(try #require(USBIdentifier("0403:6001")), physicalPath: "1-2")
        (usb.manufacturer, usb.product, usb.serialNumber, usb.interfaceNumber) = ("FTDI", "FT232R USB UART", "A5", 0)
        port.usb = usb
        #expect(
            try sortedJSON(port) == #"{"board":"FT232R (Arduino Nano)","by_id":"/dev/serial/by-id/usb-FTDI_A5","#
                + #""by_path":"/dev/serial/by-path/pci-1","driver":"ftdi_sio","id_path":"pci-1","interface":0,"#
                + #""links":["/dev/serial/by-id/usb-FTDI_A5","/dev/serial/by-path/pci-1"],"manufacturer":"FTDI","#
                + #""physical_path":"1-2","port":"/dev/ttyUSB0","product":"FT232R USB UART","product_id":"6001","#
                + #""serial_number":"A5","vendor_id":"0403"}"#)
    }

    @Test func `A holder is encoded with its lock state`() throws {
        let holder = PortHolder(processID: 4711, command: "minicom", holdsLock: true, descriptorCount: 2)
        #expect(try sortedJSON(holder) == #"{"command":"minicom","locked":true,"pid":4711}"#)
    }
}
